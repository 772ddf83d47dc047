import { HttpError } from '#shared/http/answer.ts';
import { FORMATS } from './formats.ts';
import { type ResultType, writeResult } from './results.ts';

/** The content of a QUERY, and its media type. */
export interface Query {
  readonly type: string;
  readonly text: string;
}

export interface QueryTask {
  readonly query: Query;
  /** The JSON in UTF-8 that is queried. */
  readonly content: Uint8Array;
  readonly as: ResultType;
  /** The names that members of the objects may have, if all objects have the same. */
  readonly names?: readonly string[];
}

/**
 * Evaluates a query. Time and memory are unlimited, so the caller runs it in a process that can be killed. Throws
 * `BadRequest` and `HttpError` 422.
 */
export function evaluateQuery({ query, content, as, names }: QueryTask): Buffer {
  const compile = FORMATS.get(query.type);
  if (compile === undefined) throw new Error(`no format for ${query.type}`);
  try {
    const select = compile(query.text, names);
    return writeResult(as, select(parse(content)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HttpError(422, 'The query or the document is nested too deeply, or too long.');
  }
}

function parse(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw new HttpError(422, 'The stored content is not JSON, although its type says so.');
  }
}
