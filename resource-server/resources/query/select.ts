/**
 * A compiled query, which selects from a JSON value with doubles as numbers (RFC 8259 section 6). Throws `HttpError`
 * 422 if the query does not apply to the value.
 */
export type Select = (value: unknown) => Iterable<unknown>;
