/* Types in the text: f32, vec<4 x f32>, ptr<f32, global>, rsrc, token. */
#include "ir/parse.h"

static bool at_scalar(const tw_parser *p, tw_scalar *scalar) {
    for (int s = 0; s < TW_SCALAR_COUNT; s++) {
        if (!tw_parse_at(p, tw_scalar_name((tw_scalar)s))) continue;
        *scalar = (tw_scalar)s;
        return true;
    }
    return false;
}

static bool take_scalar(tw_parser *p, tw_scalar *scalar) {
    if (at_scalar(p, scalar)) return tw_parse_next(p);
    return tw_parse_expected(p, "an element type such as i32 or f32");
}

/* <LANES x SCALAR>, after vec. */
static bool parse_vector(tw_parser *p, const tw_type **type) {
    tw_token lanes;
    tw_scalar scalar = TW_I1;
    if (!tw_parse_take(p, "<") || !tw_parse_take_kind(p, TK_INT, "the number of lanes", &lanes)) return false;
    if (lanes.integer < 2 || lanes.integer > TW_MAX_LANES)
        return tw_parse_fail(p, &lanes, "a vector has 2..%d lanes (got %.*s)", TW_MAX_LANES,
                             (int)lanes.length, lanes.text);
    if (!tw_parse_take(p, "x") || !take_scalar(p, &scalar)) return false;
    *type = tw_type_vector(scalar, (unsigned)lanes.integer);
    return tw_parse_take(p, ">");
}

/* <SCALAR, SPACE>, after ptr. */
static bool parse_pointer(tw_parser *p, const tw_type **type) {
    tw_scalar scalar = TW_I1;
    if (!tw_parse_take(p, "<")) return false;
    tw_token element = p->token;
    if (!take_scalar(p, &scalar) || !tw_parse_take(p, ",")) return false;
    bool global = tw_parse_at(p, "global");
    if (!global && !tw_parse_at(p, "lds")) return tw_parse_expected(p, "global or lds");
    *type = tw_type_pointer(scalar, global ? TW_GLOBAL : TW_LDS);
    if (!*type)
        return tw_parse_fail(p, &element, "a pointer's element must have a size in memory (got %s)",
                             tw_scalar_name(scalar));
    return tw_parse_next(p) && tw_parse_take(p, ">");
}

bool tw_parse_type(tw_parser *p, const tw_type **type) {
    tw_scalar scalar = TW_I1;
    if (tw_parse_at(p, "vec")) return tw_parse_next(p) && parse_vector(p, type);
    if (tw_parse_at(p, "ptr")) return tw_parse_next(p) && parse_pointer(p, type);
    if (tw_parse_at(p, "rsrc")) {
        *type = tw_type_rsrc();
    } else if (tw_parse_at(p, "token")) {
        *type = tw_type_token();
    } else if (at_scalar(p, &scalar)) {
        *type = tw_type_scalar(scalar);
    } else {
        return tw_parse_expected(p, "a type");
    }
    return tw_parse_next(p);
}
