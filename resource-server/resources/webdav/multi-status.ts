import { STATUS_CODES } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { XML_TYPE } from './dav-error.ts';
import {
  type Body,
  type Pieces,
  piecesOf as piecesInMemory,
  type ResourceAnswer,
} from '../../answers/pieces.ts';
import { dav, davHref, davRoot } from './xml-writer.ts';

/** Characters that are sent at a time, with other requests served in between. A shorter answer is sent at once. */
const PIECE = 64 * 1024;

/** The status of some properties of a resource. */
export interface Propstat {
  readonly status: number;
  /** The markup of each property, with its value or empty. */
  readonly properties: readonly string[];
  /** The markup of a condition (`conditionMarkup`). */
  readonly condition?: string | undefined;
}

/** The status of one resource (RFC 4918 section 14.24). `href` is an absolute path. */
export type MemberResponse =
  | { readonly href: string; readonly propstats: readonly Propstat[] }
  | {
      readonly href: string;
      readonly status: number;
      /** The markup of a condition (`conditionMarkup`). */
      readonly condition?: string | undefined;
    };

/** Responses in batches. */
type Pages = Iterable<Iterable<MemberResponse>> | AsyncIterable<Iterable<MemberResponse>>;

/**
 * Answers 207 (RFC 4918 section 13). Resolves when a short answer is complete, or when the first piece of a long answer
 * is. A later failure closes the connection. `keep` gets most answers that are not too long.
 */
export async function multiStatus(pages: Pages, keep?: Keep): Promise<ResourceAnswer> {
  const pieces = keep === undefined ? piecesOf(pages) : gathered(piecesOf(pages), keep);
  const { value: first = '' } = await pieces.next();
  const second = await pieces.next();
  const body = second.done ? first : resumed([first, second.value], pieces);
  return statuses(body);
}

/** Answers 207 with the content of an earlier answer. */
export const sameStatuses = (content: Buffer): ResourceAnswer =>
  statuses(content.length > PIECE ? piecesInMemory(content, () => {}) : content);

const statuses = (body: Body): ResourceAnswer => ({
  status: 207,
  fields: { 'Content-Type': XML_TYPE },
  body,
});

async function* piecesOf(pages: Pages): AsyncGenerator<string, undefined> {
  let piece = davRoot('multistatus');
  for await (const page of pages) {
    for (const response of page) {
      piece += responseMarkup(response);
      if (piece.length < PIECE) continue;
      yield piece;
      piece = '';
      await setImmediate();
    }
  }
  yield `${piece}</D:multistatus>`;
}

function resumed(begun: readonly string[], rest: AsyncGenerator<string, undefined>): Pieces {
  return {
    async *each() {
      for (const piece of begun) yield Buffer.from(piece);
      for await (const piece of rest) yield Buffer.from(piece);
    },
    async [Symbol.asyncDispose]() {
      await rest.return(undefined);
    },
  };
}

/** DAV:response (RFC 4918 section 14.24). */
export function responseMarkup(response: MemberResponse): string {
  const results =
    'propstats' in response
      ? response.propstats.map(propstatMarkup)
      : [statusMarkup(response.status), errorMarkup(response.condition)];
  return dav('response', davHref(response.href), ...results);
}

function propstatMarkup({ properties, status, condition }: Propstat): string {
  return dav('propstat', dav('prop', ...properties), statusMarkup(status), errorMarkup(condition));
}

function statusMarkup(status: number): string {
  return dav('status', `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`);
}

function errorMarkup(condition: string | undefined): string {
  return condition === undefined ? '' : dav('error', condition);
}

/**
 * Characters of the longest answer to keep, and the most answers that are gathered at a time. Each stays in memory
 * until its client has read it.
 */
const LONGEST = 1024 * 1024;
const AT_ONCE = 4;

/** Receives a whole answer. */
type Keep = (whole: string) => Promise<void>;

let gathering = 0;

type Answer = AsyncGenerator<string, undefined>;

/**
 * Passes the pieces of an answer on. `keep` gets the whole answer once all pieces have passed, unless it is too long or
 * too many are being gathered. A slow client thus only prevents answers from being kept.
 */
export const gathered = (pieces: Answer, keep: Keep): Answer =>
  gathering === AT_ONCE ? pieces : gather(pieces, keep);

async function* gather(pieces: Answer, keep: Keep): Answer {
  gathering += 1;
  try {
    let whole = '';
    let length = 0;
    for await (const piece of pieces) {
      length += piece.length;
      whole = length > LONGEST ? '' : whole + piece;
      yield piece;
    }
    if (length <= LONGEST) await keep(whole);
  } finally {
    gathering -= 1;
  }
}
