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
  hit: note('The cache answered and asked nobody.', '2.1'),
  fwd: note('The cache asked the next server.', '2.2'),
  'fwd-status': note('The status that the next server gave.', '2.3'),
  ttl: note('Seconds for which the answer is fresh. Less than 0: it is stale.', '2.4'),
  stored: note('The cache has stored the answer.', '2.5'),
  collapsed: note('The request waited for another one that was under way.', '2.6'),
  key: note('The key of what is stored.', '2.7'),
  detail: note('More, in words of this cache.', '2.8'),
};

/** The reasons for which a cache forwards a request (section 2.2). */
const REASONS: Readonly<Record<string, string>> = {
  bypass: 'it was told not to handle the request',
  method: 'the method is of the kind that always goes forward',
  'uri-miss': 'nothing is stored for this address',
  'vary-miss': 'what is stored is for other request fields',
  miss: 'nothing fits, for a reason that is not told',
  request: 'the request asks for more than what is stored',
  stale: 'what is stored is too old',
  partial: 'only a part of it is stored',
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
