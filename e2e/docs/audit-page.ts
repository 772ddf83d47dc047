import { EVENT_KINDS, type Members } from '#shared/audit/event-kinds.ts';
import { code, GENERATED, table } from './markdown.ts';

/** Every member of an event, with its meaning. The type refuses a member that is missing here. */
const MEMBERS: Readonly<Record<keyof Members, string>> = {
  person: 'id of a person (`user show NAME`)',
  client: '`client_id` of an application',
  key: 'id of a key or passkey',
  grant: 'id of a grant (`user access NAME`)',
  id: 'id of a sign-in, or `jti` of a token',
  type: 'OAuth grant type, or `gnap`',
  what: 'how a person proved who they are, or which setting was changed',
  reason: 'why it was refused, or what was damaged',
  count: 'how many',
  before: 'time until which this counts',
};

/** The page of the kinds of events in the audit log. */
export function auditPage(): string {
  const kinds: readonly (readonly [
    string,
    { readonly says: string; readonly has: readonly string[]; readonly may?: readonly string[] },
  ])[] = Object.entries(EVENT_KINDS);
  return [
    GENERATED,
    '# Audit events',
    '',
    'This page lists every kind of event in the audit log. The page [Audit](../how-to/audit.md) says how to read, collect and verify the audit log.',
    '',
    'Each event has `seq` (its place in the log), `time` (ISO 8601), `kind`, `who` and `how` (the interface). `who` is `{"person": ID}`, `{"client": ID}`, `"operator"` at the command line, or `"server"`. With `audit.addresses` it may have `from`, the address of the client. Events have ids, never names or secrets.',
    '',
    ...table(
      ['Kind', 'Meaning', 'Members'],
      kinds.map(([kind, { says, has, may = [] }]) => [
        code(kind),
        says,
        [...has.map(code), ...may.map((name) => `${code(name)}?`)].join(', '),
      ]),
    ),
    '',
    '## Members',
    '',
    'A member with `?` above may be missing.',
    '',
    ...table(
      ['Member', 'Meaning'],
      Object.entries(MEMBERS).map(([name, meaning]) => [code(name), meaning]),
    ),
    '',
  ].join('\n');
}
