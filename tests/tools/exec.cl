/* A kernel that fixes its workgroup, which HIP cannot say: one element a work-item of a 1,2,2 grid. */
__kernel __attribute__((reqd_work_group_size(64, 2, 1))) void fixed(__global uint *out) {
    uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    out[((__builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workgroup_id_y()) * 2 + y) * 64 + x] = 1;
}
