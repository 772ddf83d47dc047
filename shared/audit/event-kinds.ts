/** Members of events besides the time, the actor and the interface. They have ids only, never a name or a secret. */
export interface Members {
  /** Id of a person. */
  person: string;
  /** `client_id` of an application. */
  client: string;
  /** Id of a key, passkey or link. */
  key: string;
  /** Id of a grant. */
  grant: string;
  /** Id of a sign-in, or of a token (`jti`). */
  id: string;
  /** OAuth grant type, or `gnap`. */
  type: string;
  /** How a person authenticated (RFC 8176), or the setting that was changed. */
  what: string;
  reason: string;
  count: number;
  /** ISO 8601. */
  before: string;
}

interface EventKind {
  readonly says: string;
  readonly has: readonly (keyof Members)[];
  readonly may?: readonly (keyof Members)[];
}

/** The reasons of `sign-in.refused`, with the means that the person tried. */
export const REFUSED_SIGN_INS = {
  password: 'password',
  passkey: 'passkey',
  'second factor: wrong': 'second factor',
  'second factor: replayed': 'second factor',
  'second factor: recovery': 'second factor',
  'second factor: limited': 'second factor',
} as const;

export type RefusedSignIn = keyof typeof REFUSED_SIGN_INS;

/** All kinds of events, with their required and optional members. */
export const EVENT_KINDS = {
  'sign-in': {
    says: 'A person signed in at a browser.',
    has: ['person', 'what', 'id'],
  },
  'sign-in.refused': {
    says: 'A sign-in of a known person was refused; the first ten of a person in an hour. An unknown name is never stored.',
    has: ['person', 'reason'],
  },
  'sign-in.refused-more': {
    says: 'How many more sign-ins of a person were refused within the hour before this time.',
    has: ['person', 'count', 'before'],
  },
  'sign-in.ended': { says: 'One sign-in of a person ended.', has: ['person', 'id'] },
  'second-factor.added': { says: 'A person has a second factor.', has: ['person'] },
  'second-factor.removed': { says: 'The second factor of a person was removed.', has: ['person'] },
  'recovery-code.used': {
    says: 'A recovery code took the place of a second factor.',
    has: ['person'],
  },
  'recovery-codes.renewed': { says: 'A person has new recovery codes.', has: ['person'] },
  'passkey.added': { says: 'A person has one more passkey.', has: ['person', 'key'] },
  'passkey.renamed': { says: 'A passkey has another name.', has: ['person', 'key'] },
  'passkey.removed': { says: 'A passkey was removed.', has: ['person', 'key'] },
  'account.linked': {
    says: 'A person may sign in with an account at a source (`what`).',
    has: ['person', 'what'],
  },
  'account.unlinked': {
    says: 'A person may no longer sign in with an account at a source (`what`).',
    has: ['person', 'what'],
  },
  'public-key.added': {
    says: 'A person or an application has one more public key.',
    has: ['key'],
    may: ['person', 'client'],
  },
  'public-key.removed': {
    says: 'A public key of a person or an application was removed.',
    has: ['key'],
    may: ['person', 'client'],
  },
  'password.changed': { says: 'A person has a new password, or their first.', has: ['person'] },
  'password.removed': { says: 'A person has no password any more.', has: ['person'] },
  'link.made': {
    says: 'A link was made with which a person sets a password or another way in.',
    has: ['person', 'what'],
  },
  'link.used': { says: 'Such a link was used.', has: ['person', 'what'] },
  'consent.given': {
    says: 'A person allowed an application what it asked for.',
    has: ['person', 'client'],
  },
  'consent.ended': {
    says: 'What a person had allowed an application ended, with its grants.',
    has: ['person', 'client'],
  },
  'grant.ended': {
    says: 'One grant of a person ended, with its tokens.',
    has: ['person', 'grant'],
    may: ['client'],
  },
  'token.issued': {
    says: 'An application got tokens in the name of a person, by a code, a device code, a refresh token or GNAP.',
    has: ['client', 'person', 'type'],
  },
  'client-token.issued': {
    says: 'An application got a token in its own name; the first in a minute of a process.',
    has: ['client', 'type'],
  },
  'client-token.issued-more': {
    says: 'How many more such tokens it got from that process within the minute before this time.',
    has: ['client', 'type', 'count', 'before'],
  },
  'token.revoked': {
    says: 'A token, or a whole grant, was revoked before its time.',
    has: ['id'],
    may: ['client', 'person'],
  },
  'person.added': { says: 'A person was added.', has: ['person'] },
  'person.changed': {
    says: 'Settings of a person, such as groups or principals, were changed.',
    has: ['person', 'what'],
  },
  'person.disabled': { says: 'A person can no longer sign in.', has: ['person'] },
  'person.enabled': { says: 'A disabled person can sign in again.', has: ['person'] },
  'person.ended': { says: 'All sign-ins, grants and tokens of a person ended.', has: ['person'] },
  'person.data-sent': {
    says: 'A person downloaded what the server keeps about them.',
    has: ['person'],
  },
  'person.removed': {
    says: 'A person was removed. Only the id stays in this log.',
    has: ['person'],
  },
  'client.added': { says: 'An application was registered.', has: ['client'] },
  'client.changed': { says: 'The registration of an application was changed.', has: ['client'] },
  'client.secret-changed': { says: 'An application has another secret.', has: ['client'] },
  'client.ended': {
    says: 'All tokens of an application ended, and all that people had allowed it.',
    has: ['client'],
  },
  'client.removed': { says: 'An application was removed, with all that it had.', has: ['client'] },
  'logout.told': {
    says: 'An application accepted that a session of a person has ended.',
    has: ['person', 'client'],
  },
  'logout.untold': {
    says: 'An application did not accept within 24 hours that a session of a person has ended.',
    has: ['person', 'client', 'reason'],
  },
  'api-key.added': { says: 'An API key was made.', has: ['key'] },
  'api-key.rotated': { says: 'An API key was replaced by another.', has: ['key'] },
  'api-key.removed': { says: 'An API key was removed.', has: ['key'] },
  'signing-key.added': { says: 'There is a new signing key.', has: ['key'] },
  'signing-key.removed': {
    says: 'A signing key was removed before its time, and all that it signed is refused.',
    has: ['key'],
  },
  'token-keys.rotated': { says: 'The issuer of PrivateTokens got new keys.', has: ['what'] },
  'cache.purged': { says: 'Stored answers were removed from the caches.', has: ['count'] },
  'cache.banned': { says: 'Stored answers were banned by a pattern.', has: ['count'] },
  'directory.exported': { says: 'The directory of people was exported.', has: ['count'] },
  'directory.imported': { says: 'People were imported.', has: ['count'] },
  'configuration.loaded': { says: 'A server started with its configuration.', has: ['what'] },
  'store.damaged': {
    says: 'The store lost something that was acknowledged, events before this one perhaps. All tokens ended.',
    has: ['reason'],
  },
  'audit.ended': {
    says: 'Events before this time were removed, as the log is kept no longer.',
    has: ['before'],
  },
} as const satisfies Readonly<Record<string, EventKind>>;

type Kinds = typeof EVENT_KINDS;
export type Kind = keyof Kinds;
type Optional<K extends Kind> = Kinds[K] extends { may: readonly (infer Member)[] }
  ? Member
  : never;

/** An event, as the code that caused it reports it. */
export type AuditEvent = {
  [K in Kind]: { readonly kind: K } & {
    readonly [M in Kinds[K]['has'][number]]: Members[M];
  } & { readonly [M in Optional<K> & keyof Members]?: Members[M] | undefined };
}[Kind];

type Has<K extends Kind> = Kinds[K]['has'][number] | Optional<K>;

/** The kinds of events that may concern a person. */
export type KindOfPerson = { [K in Kind]: 'person' extends Has<K> ? K : never }[Kind];

export const isOfPerson = <Event extends AuditEvent>(
  event: Event,
): event is Extract<Event, { readonly kind: KindOfPerson }> => 'person' in event;

export const isKind = (text: string): text is Kind => Object.hasOwn(EVENT_KINDS, text);
