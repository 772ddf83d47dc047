/**
 * What a query makes of a JSON value, whose numbers are doubles (RFC 8259 section 6). Throws `HttpError`
 * 422 when it can make nothing of it.
 */
export type Select = (value: unknown) => Iterable<unknown>;
