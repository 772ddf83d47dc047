import { type Random, randomId } from '#shared/base/random.ts';
import type { Fields } from '#shared/http/answer.ts';
import { has } from '#shared/http/fields.ts';
import { grouped } from '../forwarding/fields.ts';
import type { Pieces, ResourceAnswer } from '../answers/pieces.ts';
import { multipartRanges } from '../answers/multipart-ranges.ts';
import { lengthOf } from '../answers/range.ts';
import { withStatus } from './rules/cache-status.ts';
import { valuesOf } from './rules/lines.ts';
import type { Asked } from './rules/rules.ts';
import { isNoAge, serve } from './rules/serving.ts';
import type { Stored } from './rules/stored.ts';

/** Where the content of a stored answer is read. */
export interface Source {
  readonly stored: Stored;
  /** The content as one buffer, if it is in memory. */
  readonly whole?: Buffer | undefined;
  pieces(first?: number, last?: number): Pieces;
}

/**
 * Returns the answer to one request from a stored answer. `age`: in seconds; undefined for the client whose request
 * fetched the answer. `member`: of Cache-Status.
 */
export function answerOf(
  { stored, whole, pieces }: Source,
  asked: Pick<Asked, 'method' | 'rawHeaders'>,
  { age, member }: { readonly age?: number | undefined; readonly member: string },
  random: Random,
): ResourceAnswer {
  const { status, fields, content } =
    age !== undefined && isPlain(asked)
      ? {
          status: stored.status,
          fields: plainFields(stored, age, member),
          content: 'whole' as const,
        }
      : selected(stored, asked, age, member);
  if (content === 'none' || status === 204) return { status, fields };
  if (content === 'whole') {
    const isHead = asked.method === 'HEAD';
    if (whole?.length && !isHead) return { status, fields, body: whole }; // the sender writes Content-Length
    const { length } = stored;
    const sized = length === undefined ? fields : { ...fields, 'Content-Length': String(length) };
    return isHead ? { status, fields: sized } : { status, fields: sized, body: whole ?? pieces() };
  }
  const [range, ...others] = content;
  if (range !== undefined && others.length === 0) {
    const sized = { ...fields, 'Content-Length': String(lengthOf(range)) };
    return { status, fields: sized, body: pieces(range.first, range.last) };
  }
  const [type = 'application/octet-stream'] = valuesOf(stored.lines, 'content-type');
  const parts = multipartRanges(
    { type, length: stored.length ?? 0, content: async (part) => pieces(part?.first, part?.last) },
    content,
    randomId(random),
  );
  const described = {
    ...fields,
    'Content-Type': parts.type,
    'Content-Length': String(parts.length),
  };
  return { status, fields: described, body: inTurn(parts.content) };
}

/** Applies the request's conditions and ranges to a stored answer. */
function selected(
  stored: Stored,
  asked: Pick<Asked, 'method' | 'rawHeaders'>,
  age: number | undefined,
  member: string,
) {
  const { status, lines, content } = serve(stored, asked, age);
  const fields: Fields = Object.fromEntries(grouped(withStatus(lines, member)));
  return { status, fields, content };
}

const SELECTING = ['range', 'if-none-match', 'if-modified-since'];

/** Whether a request has no conditions and no ranges, as most have none. */
function isPlain({ rawHeaders }: Pick<Asked, 'rawHeaders'>): boolean {
  return !SELECTING.some((name) => has(rawHeaders, name));
}

/** The fields of answers to requests without conditions and ranges. */
const plain = new WeakMap<Stored, Fields>();

function plainFields(stored: Stored, age: number, member: string): Fields {
  let fields = plain.get(stored);
  if (fields === undefined) {
    fields = Object.fromEntries(grouped(stored.lines.filter(isNoAge)));
    plain.set(stored, fields);
  }
  const { 'Cache-Status': before } = fields;
  const status = before === undefined ? member : `${String(before)}, ${member}`;
  return { ...fields, Age: String(age), 'Cache-Status': status };
}

/** Content that is opened when its first piece is read. */
function inTurn(open: () => Promise<Buffer | Pieces | undefined>): Pieces {
  let opened: Pieces | undefined;
  return {
    async *each(most) {
      opened = (await open()) as Pieces;
      yield* opened.each(most);
    },
    async [Symbol.asyncDispose]() {
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
