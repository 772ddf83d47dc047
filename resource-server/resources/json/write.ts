import { HttpError } from '#shared/http/answer.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { MAX_DEPTH, MAX_VALUES } from './parse.ts';
import { type Json, NumberText } from './value.ts';

/**
 * The JSON text of a value, in UTF-8. Throws `HttpError` 413 when it has more than `maxBytes`, and 422 when
 * it is deeper than `MAX_DEPTH` or has over `MAX_VALUES` values: what is written can be read again.
 */
export function writeJson(value: Json, maxBytes: number): Buffer {
  const pieces: string[] = [];
  let length = 0;
  let values = 0;

  function add(piece: string): void {
    // No character has less than a byte: a text that is far too long is never made.
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
