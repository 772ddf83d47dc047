import { type Member, parseList, type Params } from '#shared/http/structured-fields.ts';
import { memberText } from '#shared/http/structured-text.ts';
import { checksOf, type Step, type Wrong } from './checks.ts';
import type { Explained, Part } from './explained.ts';
import { type Notes, notesIn } from './note.ts';
import { notedPart } from './noted-part.ts';
import { own } from './own.ts';

const note = notesIn('RFC 9211');

/** Notes on the parameters of a member. */
const NOTES: Notes = {
  hit: note('The cache answered by itself.', '2.1'),
  fwd: note('The cache forwarded the request to the next server.', '2.2'),
  'fwd-status': note('The status that the next server gave.', '2.3'),
  ttl: note('Seconds for which the answer is fresh. Less than 0: it is stale.', '2.4'),
  stored: note('The cache has stored the answer.', '2.5'),
  collapsed: note('The request waited for the answer to another request.', '2.6'),
  key: note('The key of the stored answer.', '2.7'),
  detail: note('More information, in words of this cache.', '2.8'),
};

/** The reasons for which a cache forwards a request (section 2.2). */
const REASONS: Readonly<Record<string, string>> = {
  bypass: 'the cache is configured not to handle the request',
  method: 'a cache always forwards requests with this method',
  'uri-miss': 'no answer is stored for this address',
  'vary-miss': 'the stored answers are for other request fields',
  miss: 'no stored answer fits, and the cache does not say why',
  request: 'the request does not allow the stored answer',
  stale: 'the stored answer is too old',
  partial: 'only a part of the answer is stored',
};

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'The field is a List of Structured Fields, a member for each cache.',
    section: 'RFC 9211 section 2',
  },
  {
    name: 'either',
    check: 'Each cache says hit or fwd, not both.',
    section: 'RFC 9211 section 2',
  },
  {
    name: 'reason',
    check: 'fwd has one of the registered reasons.',
    section: 'RFC 9211 section 2.2',
  },
];

/** Explains a Cache-Status field (RFC 9211): what each cache did, beginning with the cache nearest to the origin. */
export function explainCacheStatus(value: string): Explained {
  const members = parseList(value);
  return {
    what: 'Cache-Status field',
    standard: 'RFC 9211',
    parts: (members ?? []).flatMap((member, at) => partsOf(member, at)),
    checks: checksOf(
      STEPS,
      members ? wrongIn(members) : { reason: 'it is malformed', step: 'form' },
    ),
  };
}

const nameOf = (member: Member) => memberText({ ...member, params: new Map() });

function partsOf(member: Member, at: number): readonly Part[] {
  const cache = { name: `cache ${at + 1}`, value: nameOf(member), section: 'RFC 9211 section 2' };
  const params = [...member.params].map(([name, { value }]) =>
    notedPart(name, Buffer.isBuffer(value) ? value.toString('base64') : String(value), NOTES),
  );
  const reason = reasonOf(member.params);
  const meaning = reason === undefined ? [] : [{ name: 'reason', value: reason }];
  return [cache, ...params, ...meaning];
}

function reasonOf(params: Params): string | undefined {
  const reason = String(params.get('fwd')?.value);
  return own(REASONS, reason);
}

function wrongIn(members: readonly Member[]): Wrong | undefined {
  const odd = members.find(
    ({ params }) => (params.get('hit')?.value === true) === params.has('fwd'),
  );
  if (odd !== undefined) {
    const both = odd.params.has('fwd');
    const said = both ? 'hit and fwd' : 'neither hit nor fwd';
    return { reason: `the cache ${nameOf(odd)} says ${said}`, step: 'either' };
  }
  const unknown = members.find(({ params }) => params.has('fwd') && !reasonOf(params));
  if (unknown === undefined) return undefined;
  const reason = `fwd=${String(unknown.params.get('fwd')?.value)} is no registered reason`;
  return { reason, step: 'reason' };
}
