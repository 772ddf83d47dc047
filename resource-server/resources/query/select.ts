/**
 * A compiled query: selects from a JSON value, whose numbers are doubles (RFC 8259 section 6). Throws `HttpError`
 * 422 if the query does not apply to it.
 */
export type Select = (value: unknown) => Iterable<unknown>;
