import { parseCodedUrl } from '#shared/http/if-field.ts';
import type { Lock } from '#shared/stores/trees/trees.ts';
import { parseJson } from '../../resources/json/parse.ts';
import { readPatch, receivePatch } from '../../resources/json/patch-document.ts';
import { writeJson } from '../../resources/json/write.ts';
import { PERSON } from '../person.ts';
import type { Recorded, RecordedMessage } from '../recorded.ts';
import { incoming } from './incoming.ts';

/** A document as the answers so far tell of it. */
export interface SeenDocument {
  readonly etag: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The place of a request, as the messages before it leave it. */
export interface DocumentState {
  /** Undefined: nothing is there. */
  document: SeenDocument | undefined;
  locks: readonly Lock[];
  /** Entity tags of the results of queries, by the address that asks again (RFC 10008 section 2.3). */
  readonly kept: Map<string, string>;
}

type Leg = Recorded['earlier'][number];

/** Bytes of the longest document that is patched here. */
const LONGEST = 65_536;

const etagIn = ({ lines }: RecordedMessage): string => (lines('etag')[0] ?? '').replaceAll('"', '');

/** Changes of the state by requests that succeeded, by method. */
const CHANGES: Readonly<Record<string, (state: DocumentState, leg: Leg) => unknown>> = {
  PUT(state, { asked, answer }) {
    const type = asked.lines('content-type')[0] ?? '';
    state.document = { etag: etagIn(answer), type, content: asked.content };
  },
  async PATCH(state, { asked, answer }) {
    const { document } = state;
    if (document === undefined) return;
    const apply = readPatch(await receivePatch(incoming(asked)));
    const content = writeJson(apply(parseJson(document.content)), LONGEST);
    state.document = { ...document, etag: etagIn(answer), content };
  },
  DELETE(state) {
    state.document = undefined;
    state.locks = [];
  },
  LOCK(state, { asked, answer }) {
    const token = parseCodedUrl(answer.lines('lock-token')[0] ?? '');
    if (token === undefined) return;
    state.document ??= { etag: '', type: '', content: Buffer.alloc(0) };
    state.locks = [lockOf(token, asked)];
  },
  UNLOCK: (state) => (state.locks = []),
  QUERY(state, { answer }) {
    const [address] = answer.lines('location');
    if (address !== undefined) state.kept.set(address, etagIn(answer));
  },
};

/** The path of the document in the tree of an exchange, which has no other. */
export const PATH = 'document';

/** The exchanges ask for exclusive locks of one document. */
const lockOf = (token: string, { lines }: RecordedMessage): Lock => ({
  token,
  root: PATH,
  deep: lines('depth')[0] !== '0',
  exclusive: true,
  owner: '',
  principal: PERSON.id,
  seconds: Infinity,
  expires: Infinity,
});

/** Returns the state that the requests before have made. */
export async function stateBefore({ earlier }: Pick<Recorded, 'earlier'>): Promise<DocumentState> {
  const state: DocumentState = { document: undefined, locks: [], kept: new Map() };
  for (const leg of earlier) {
    const [method = ''] = leg.asked.words;
    const [, status = ''] = leg.answer.words;
    if (status.startsWith('2') && Object.hasOwn(CHANGES, method))
      await CHANGES[method]?.(state, leg);
  }
  return state;
}
