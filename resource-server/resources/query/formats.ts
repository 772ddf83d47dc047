import { compileFilter } from './filter.ts';
import { compileJsonPath } from './jsonpath.ts';

/**
 * What a query makes of a JSON value, whose numbers are doubles (RFC 8259 section 6). Throws `HttpError`
 * 422 when it can make nothing of it.
 */
export type Select = (value: unknown) => Iterable<unknown>;

/** Media types of queries, in UTF-8, and how each is understood. Throws `BadRequest` and `HttpError` 422. */
export const FORMATS: ReadonlyMap<string, (text: string) => Select> = new Map([
  ['application/jsonpath', compileJsonPath],
  ['application/x-www-form-urlencoded', compileFilter],
]);
