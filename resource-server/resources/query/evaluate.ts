import { HttpError } from '#shared/http/answer.ts';
import { FORMATS } from './formats.ts';
import { type ResultType, writeResult } from './results.ts';

/** The content of a QUERY, and the media type by which it is understood. */
export interface Query {
  readonly type: string;
  readonly text: string;
}

export interface QueryTask {
  readonly query: Query;
  /** JSON in UTF-8, which the query is put to. */
  readonly content: Uint8Array;
  readonly as: ResultType;
}

/**
 * The result of a query. Takes as long and as much memory as it takes: for a process that can be ended.
 * Throws `BadRequest` and `HttpError` 422.
 */
export function evaluateQuery({ query, content, as }: QueryTask): Buffer {
  const compile = FORMATS.get(query.type);
  if (compile === undefined) throw new Error(`no format for ${query.type}`);
  try {
    const select = compile(query.text);
    return writeResult(as, select(parse(content)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HttpError(422, 'The query or what it is put to is nested too deep, or too long.');
  }
}

function parse(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    throw new HttpError(422, 'What is stored here is not JSON, whatever its type says.');
  }
}
