import { HttpError } from '#shared/http/answer.ts';

interface Format {
  readonly before: string;
  /** Writes one value of the list. */
  readonly one: (json: string, first: boolean) => string;
  readonly after: string;
}

const FORMATS = {
  'application/json': {
    before: '[',
    one: (json, first) => (first ? json : `,${json}`),
    after: ']',
  },
  'application/jsonl': { before: '', one: (json) => `${json}\n`, after: '' },
} satisfies Record<string, Format>;

/** The format of a result: a JSON array, or JSON Lines. */
export type ResultType = keyof typeof FORMATS;

export const RESULT_TYPES = Object.keys(FORMATS) as readonly ResultType[];

/** The longest result, in bytes. */
export const MAX_RESULT = 8 * 1024 * 1024;

/** Writes the values in this format. Throws `HttpError` 422 if they exceed `MAX_RESULT` bytes. */
export function writeResult(type: ResultType, values: Iterable<unknown>): Buffer {
  const { before, one, after }: Format = FORMATS[type];
  const pieces: string[] = [];
  let length = before.length + after.length;
  for (const value of values) {
    const piece = one(JSON.stringify(value), pieces.length === 0);
    length += Buffer.byteLength(piece);
    if (length > MAX_RESULT) {
      throw new HttpError(422, `The result would have over ${MAX_RESULT} bytes: ask for less.`);
    }
    pieces.push(piece);
  }
  return Buffer.from(`${before}${pieces.join('')}${after}`);
}
