import { HttpError } from '#shared/http/answer.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { MAX_DEPTH, MAX_VALUES } from './parse.ts';
import { type Json, NumberText } from './value.ts';

/**
 * Returns the JSON text of a value in UTF-8. Throws `HttpError` 413 if it has more than `maxBytes`, and 422 if it
 * exceeds `MAX_DEPTH` or `MAX_VALUES`, so that what is written can be read again.
 */
export function writeJson(value: Json, maxBytes: number): Buffer {
  const pieces: string[] = [];
  let length = 0;
  let values = 0;

  function add(piece: string): void {
    // Every character takes at least one byte, so this check stops a text that is far too long early.
    length += piece.length;
    if (length > maxBytes) throw tooLong(maxBytes);
    pieces.push(piece);
  }

  function write(part: Json, depth: number): void {
    values += 1;
    if (values > MAX_VALUES) throw unprocessable(`The result has over ${MAX_VALUES} values.`);
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
  const content = Buffer.from(pieces.join(''));
  if (content.length > maxBytes) throw tooLong(maxBytes);
  return content;
}

function tooLong(maxBytes: number): HttpError {
  return new HttpError(413, `The result has over ${maxBytes} bytes.`);
}
