import { type Condition, parseCodedUrl, parseIf } from '#shared/http/if-field.ts';
import type { Entry, TreeView } from '#shared/stores/trees/trees.ts';
import { evaluateConditions, preconditionFailed } from '../../answers/preconditions.ts';
import { parseRanges, rangesAsked } from '../../answers/range.ts';
import { has } from '../../resources/place/expected-state.ts';
import { writesOf } from '../../resources/place/member.ts';
import type { DocumentKnown } from './document-known.ts';
import type { CheckStep, Finding } from './in-order.ts';

type Steps = readonly CheckStep<DocumentKnown>[];

const comes =
  (name: string) =>
  ({ asked }: DocumentKnown): boolean =>
    asked.lines(name).length > 0;

const etagOf = ({ document, kept }: DocumentKnown): string | undefined => kept ?? document?.etag;

/** Evaluates one condition alone, so that each has a line of its own. */
function conditionFinds(known: DocumentKnown, name: string, then: string): Finding {
  const headers = { [name]: known.asked.lines(name).join(', ') };
  const etag = etagOf(known);
  const current = etag === undefined ? undefined : { etag };
  const result = evaluateConditions({ method: known.method, headers }, current, known.now);
  if (result === 412) throw preconditionFailed();
  return result === 304 ? { no: then } : undefined;
}

/** The tree as the checks of locks read it. */
function viewOf({ path, document, held }: DocumentKnown): TreeView {
  const common = { revision: '', created: 0, modified: 0, properties: {} };
  const root: Entry = { ...common, kind: 'collection', path: '' };
  const entries = new Map<string, Entry>([['', root]]);
  if (document !== undefined) {
    const { etag, type, content } = document;
    const entry = { ...common, path, etag, type, length: content.length, file: '' };
    entries.set(path, { ...entry, kind: 'document' });
  }
  return { entries, locks: held, locksVersion: '', usage: { bytes: 0, entries: 0 } };
}

const WRITES: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE']);

const ifLists = ({ asked }: DocumentKnown) => parseIf(asked.lines('if')[0] ?? '');

function holds(known: DocumentKnown, conditions: readonly Condition[]): boolean {
  const tokens = known.locks.covering(viewOf(known), known.path).map(({ token }) => token);
  const etag = etagOf(known);
  const state = {
    tokens: new Set(tokens),
    ...(etag !== undefined && { etag: { weak: false, opaque: etag } }),
  };
  return conditions.every((condition) => has(state, condition) !== condition.not);
}

/** Checks of what the client expects (RFC 9110 section 13, RFC 4918 sections 6 and 10.4), in the order of the server. */
export const CONDITION_STEPS: Steps = [
  {
    check: 'Nobody else holds a lock with which the new one conflicts.',
    section: 'RFC 4918 section 9.10.5',
    applies: ({ method }) => method === 'LOCK',
    finds(known) {
      const asked = {
        root: known.path,
        deep: false,
        exclusive: true,
        owner: '',
        principal: '',
        seconds: 1,
      };
      const conflicts = known.locks.conflicting(viewOf(known), asked);
      return conflicts.length > 0 ? 'it is locked already' : undefined;
    },
  },
  {
    check: 'All conditions of one list in If are true.',
    section: 'RFC 4918 section 10.4.3',
    applies: comes('if'),
    finds(known) {
      const lists = ifLists(known);
      if (lists === undefined) return 'If is malformed';
      const isSo = lists.some(({ conditions }) => holds(known, conditions));
      return isSo ? undefined : 'the document has no lock with this token';
    },
  },
  {
    check: 'If-Match names the version that is there, by a strong comparison.',
    section: 'RFC 9110 section 13.1.1',
    applies: comes('if-match'),
    finds: (known) => conditionFinds(known, 'if-match', ''),
  },
  {
    check: 'If-None-Match does not name what is there.',
    section: 'RFC 9110 section 13.1.2',
    applies: comes('if-none-match'),
    finds: (known) =>
      conditionFinds(
        known,
        'if-none-match',
        'it is the same version, so the answer is 304 without content',
      ),
  },
  {
    check: 'Nobody has locked the document, or If shows the token of the lock.',
    section: 'RFC 4918 section 7.5',
    applies: ({ method }) => WRITES.has(method),
    finds(known) {
      const view = viewOf(known);
      const tokens = new Set(
        (ifLists(known) ?? []).flatMap(({ conditions }) =>
          conditions.flatMap((condition) => ('token' in condition ? condition.token : [])),
        ),
      );
      const closed = writesOf(view, known.path).some((write) =>
        [...known.locks.needed(view, write).values()].some(
          (locks) => !locks.some(({ token }) => tokens.has(token)),
        ),
      );
      return closed ? 'it is locked, and its token is not in If' : undefined;
    },
  },
  {
    check: 'Lock-Token names a lock of this document.',
    section: 'RFC 4918 section 9.11.1',
    applies: ({ method }) => method === 'UNLOCK',
    finds(known) {
      const named = parseCodedUrl(known.asked.lines('lock-token')[0] ?? '');
      const covering = known.locks.covering(viewOf(known), known.path);
      return covering.some(({ token }) => token === named) ? undefined : 'it has no such lock';
    },
  },
];

/** Checks of ranges, after all others. What is wrong here is passed over, and the whole comes. */
export const RANGE_STEPS: Steps = [
  {
    check: 'If-Range names the version that is there, by a strong comparison.',
    section: 'RFC 9110 section 13.1.5',
    applies: comes('if-range'),
    finds({ asked, document }) {
      const { etag = '', content } = document ?? {};
      const rawHeaders = ['Range', 'bytes=0-', 'If-Range', asked.lines('if-range')[0] ?? ''];
      const ranges = rangesAsked({ rawHeaders }, { etag, length: content?.length ?? 0 });
      return ranges.length > 0 ? undefined : { no: 'it is another version, so the whole comes' };
    },
  },
  {
    check: 'Range is well-formed.',
    section: 'RFC 9110 section 14.2',
    applies: comes('range'),
    finds({ asked, document }) {
      const ranges = parseRanges(asked.lines('range')[0] ?? '', document?.content.length ?? 0);
      return ranges ? undefined : { no: 'it is malformed, so the whole comes' };
    },
  },
  {
    check: 'At least one octet of the range is in the document.',
    section: 'RFC 9110 section 15.5.17',
    applies: comes('range'),
    finds({ asked, document }) {
      const { etag = '', content } = document ?? {};
      const rawHeaders = ['Range', asked.lines('range')[0] ?? ''];
      rangesAsked({ rawHeaders }, { etag, length: content?.length ?? 0 });
      return undefined;
    },
  },
];
