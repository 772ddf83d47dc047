import { HttpError } from '#shared/server/answer.ts';
import { MAX_DEPTH, unprocessable } from './parse.ts';
import { type Json, NumberText } from './value.ts';

/**
 * The JSON text of a value, in UTF-8. Throws `HttpError` 413 when it would have more than `maxBytes`,
 * before it is made, and 422 when it is deeper than `MAX_DEPTH`.
 */
export function writeJson(value: Json, maxBytes: number): Buffer {
  const pieces: string[] = [];
  let bytes = 0;

  function add(piece: string): void {
    bytes += Buffer.byteLength(piece);
    if (bytes > maxBytes) throw new HttpError(413, `The result has over ${maxBytes} bytes.`);
    pieces.push(piece);
  }

  function write(part: Json, depth: number): void {
    if (depth > MAX_DEPTH) throw unprocessable(`The result has over ${MAX_DEPTH} levels.`);
    if (Array.isArray(part)) {
      let before = '[';
      for (const element of part) {
        add(before);
        write(element, depth + 1);
        before = ',';
      }
      add(part.length === 0 ? '[]' : ']');
    } else if (part instanceof Map) {
      let before = '{';
      for (const [name, member] of part) {
        add(`${before}${JSON.stringify(name)}:`);
        write(member, depth + 1);
        before = ',';
      }
      add(part.size === 0 ? '{}' : '}');
    } else {
      add(part instanceof NumberText ? part.text : JSON.stringify(part));
    }
  }

  write(value, 0);
  return Buffer.from(pieces.join(''));
}
