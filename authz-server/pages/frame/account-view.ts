import type { Html } from '#shared/pages/html.ts';
import type { KindOfPerson } from '#shared/audit/event-kinds.ts';
import type { Profile } from '#shared/stores/people/people.ts';

/** Times are milliseconds since the epoch. */
export interface AccountProps {
  readonly name: string;
  /** The URL where addresses are confirmed and changed. Absent: there is no such page. */
  readonly addresses?: string;
  /** The profile that applications may read. */
  readonly profile?: Profile;
  /** The applications that the person may open. */
  readonly starts: readonly AccountStart[];
  readonly lists: AccountLists;
  /** The newest entries, and the URL of the page with all entries. */
  readonly activity: { readonly entries: readonly ActivityEntry[]; readonly all: string };
  readonly ways: AccountWays;
  readonly keys: readonly AccountKey[];
  /** The origins for which a browser can make a key. The form is posted to `link`. */
  readonly keyOrigins: readonly string[];
  readonly link: string;
  /**
   * Says what was just ended. `password`: the password was changed; `others`: everything else was also ended; `gone`:
   * the entry did not exist.
   */
  readonly ended?: 'sign-in' | 'application' | 'access' | 'key' | 'password' | 'others' | 'gone';
  /** The names of the applications that the server could not tell yet of what has ended. */
  readonly untold?: readonly string[];
  /** The URL of the page about the data of the person. */
  readonly data: string;
  /** The URL of the pages for administrators. Absent: the person is no administrator. */
  readonly admin?: string;
}

/** An application or space, and the URL at which people begin to use it. */
export interface AccountStart {
  readonly name: string;
  readonly url: string;
  /** An https URL of a picture. */
  readonly logo?: string;
}

export type AccountGroup = 'sign-ins' | 'applications';

/** The sign-ins and applications of the overview, or of one page of a group. */
export interface AccountLists {
  readonly signIns: readonly AccountSignIn[];
  readonly applications: readonly AccountApplication[];
  /** The groups that have more than the overview shows. */
  readonly more: readonly AccountGroup[];
  /** The one group that is shown; absent: the overview. */
  readonly shown?: { readonly group: AccountGroup; readonly page: number; readonly pages: number };
}

/** A browser in which the person is signed in. */
export interface AccountSignIn {
  readonly id: string;
  readonly since: number;
  readonly lastSeen?: number;
  readonly address?: string;
  readonly agent?: string;
  /** This browser. */
  readonly current: boolean;
  /** How the person signed in. */
  readonly by: SignInMeans;
}

export type SignInMeans =
  | 'password'
  | 'second-factor'
  | 'recovery-code'
  | 'passkey'
  | 'provider'
  | 'provider-and-code'
  | 'provider-and-recovery-code';

/** The ways in which the person can sign in. */
export interface AccountWays {
  readonly hasPassword: boolean;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** How many accounts elsewhere sign the person in. Absent: there is no such source. */
  readonly accountsElsewhere?: number;
  /** Whether the person has a second factor. Absent: this server has no second factors. */
  readonly hasSecondFactor?: boolean;
  /** The number of unused recovery codes of the second factor. */
  readonly codesLeft?: number;
}

export interface EndEverythingProps {
  /** The URL to which the form is posted: `end` = everything. */
  readonly action: string;
  /** The browsers that would be signed out, and the applications that would lose their access. */
  readonly lists: Pick<AccountLists, 'signIns' | 'applications'>;
  /** Whether there are more sign-ins or applications than the lists have. */
  readonly isMore: boolean;
  /** The URL of the page to return to without a change. */
  readonly back: string;
}

/** The entry that the person is about to end, and what ends with it. */
export interface EndOneProps {
  readonly kind: 'sign-in' | 'access' | 'application' | 'key' | 'passkey';
  /** Its name for people; a browser or device with its start and its address. */
  readonly name: string | Html;
  /** The URL to which the form is posted, and its fields. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The URL of the page to return to without a change. */
  readonly back: string;
  /** It ends the sign-in of this browser. */
  readonly isHere: boolean;
  /** Browsers that are signed out by it, and applications and devices that lose access by it, by name. */
  readonly browsers: readonly (string | Html)[];
  readonly applications: readonly string[];
}

/** The numbers of sign-ins and accesses that were ended. */
export interface EverythingEndedProps {
  readonly signIns: number;
  readonly grants: number;
  /** The names of the applications that the server has not told yet. */
  readonly untold: readonly string[];
  /** The URL for signing in again. */
  readonly again: string;
}

/** A key that lets the person in without a password. */
export interface AccountKey {
  readonly id: string;
  readonly name: string;
  readonly scheme: string;
  /** The origin for which the key is valid. Absent: it is valid everywhere. */
  readonly origin?: string;
  readonly since: number;
  readonly lastUse?: number;
}

/** Times are milliseconds since the epoch. */
export interface PasskeysProps {
  /** Forms are posted here: `do` = added (with `name` and `passkey`) | renamed (`id`, `name`) | removed (`id`). */
  readonly action: string;
  readonly passkeys: readonly AccountPasskey[];
  readonly hasPassword: boolean;
  /** The options with which a browser makes a passkey, as JSON (WebAuthn section 5.4); absent: none can be made here. */
  readonly options?: string;
  /** The name that was typed before. */
  readonly name?: string;
  readonly done?: 'added' | 'renamed' | 'removed';
  /** `late`: the challenge has expired. `last`: the person has no other way to sign in. */
  readonly problem?: 'name' | 'name-taken' | 'failed' | 'late' | 'taken' | 'full' | 'last' | 'gone';
}

export interface AccountPasskey {
  readonly id: string;
  readonly name: string;
  readonly since: number;
  readonly lastUse?: number;
  /** The time at which the passkey was refused, since it may have been copied. */
  readonly refused?: number;
  /** The person has signed in with it in this browser. */
  readonly current: boolean;
}

export interface KeyLinkProps {
  /** The link works once. Any browser that opens it adds a key. */
  readonly link: string;
  /** The URL of the account page. */
  readonly back: string;
}

/** An application with everything that the person has allowed it. */
export interface AccountApplication {
  /** The identifier of its client. */
  readonly id: string;
  readonly name: string;
  readonly items: readonly string[];
  readonly accesses: readonly AccountAccess[];
  /** The number of browsers and devices that the overview leaves out. */
  readonly hidden?: number;
}

/** The access of an application in one browser, or on one device. */
export interface AccountAccess {
  readonly id: string;
  readonly isDevice: boolean;
  readonly since: number;
  readonly lastIssue?: number;
  readonly address?: string;
  readonly agent?: string;
}

/** Something that happened to a person, as the audit log has it. */
export interface ActivityEntry {
  /** `other`: the person did it, but it concerns another person or thing. */
  readonly kind: KindOfPerson | 'other';
  /** Milliseconds since the epoch. If the entry stands for several events, it is the time of the last. */
  readonly at: number;
  /** How many events this entry stands for, if that is more than one. */
  readonly count?: number;
  /** The name of the application that it is about. */
  readonly client?: string;
  /** Somebody else who did it. */
  readonly by?: 'operator' | 'administrator';
  readonly means?: SignInMeans;
  readonly reason?: 'password' | 'passkey' | 'second factor';
  /** The part of the account that was changed. Absent: the part has no text of its own. */
  readonly part?: AccountPart;
  /** The browser of a sign-in that has not ended. */
  readonly agent?: string;
  readonly address?: string;
}

/** The values of `what` in the event `person.changed`. */
export type AccountPart =
  | 'emails'
  | 'profile'
  | 'profile, admin given'
  | 'profile, admin taken'
  | 'admin given'
  | 'admin taken'
  | 'kerberos';

export interface ActivityProps {
  readonly entries: readonly ActivityEntry[];
  /** Whether these are the newest ones. */
  readonly isFirst: boolean;
  /** The URL of older entries. Absent: there are none. */
  readonly older?: string;
  /** This page without a place in the log. */
  readonly newest: string;
  readonly back: string;
}
