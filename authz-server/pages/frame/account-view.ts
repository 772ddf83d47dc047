import type { KindOfPerson } from '#shared/audit/event-kinds.ts';
import type { Profile } from '#shared/stores/people/people.ts';

/** Times are milliseconds since the epoch. */
export interface AccountProps {
  readonly name: string;
  /** Where addresses are confirmed and changed; absent: nowhere. */
  readonly addresses?: string;
  /** The profile that applications may read. */
  readonly profile?: Profile;
  readonly lists: AccountLists;
  /** The newest entries, and where all are. */
  readonly activity: { readonly entries: readonly ActivityEntry[]; readonly all: string };
  readonly ways: AccountWays;
  readonly keys: readonly AccountKey[];
  /** Where a browser can be given a key (`origin`), by a form that is posted to `link`. */
  readonly keyOrigins: readonly string[];
  readonly link: string;
  /** Something was ended just now. `password`: it was changed, `others`: and all else ended; `gone`: it was not there. */
  readonly ended?: 'sign-in' | 'application' | 'access' | 'key' | 'password' | 'others' | 'gone';
  /** Where an administrator goes on; absent: the person is none. */
  readonly admin?: string;
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

export type SignInMeans = 'password' | 'second-factor' | 'recovery-code' | 'passkey';

/** The ways in which the person can sign in. */
export interface AccountWays {
  readonly hasPassword: boolean;
  /** How many passkeys there are. */
  readonly passkeys: number;
  /** Absent: nobody is asked for one here. */
  readonly hasSecondFactor?: boolean;
  /** How many recovery codes are left beside the second factor. */
  readonly codesLeft?: number;
}

export interface EndEverythingProps {
  /** Where the form is posted: `end` = everything. */
  readonly action: string;
  /** The browsers that would be signed out, and the applications that would lose their access. */
  readonly lists: Pick<AccountLists, 'signIns' | 'applications'>;
  /** Whether there are more of either than the lists have. */
  readonly isMore: boolean;
  /** Where nothing is ended. */
  readonly back: string;
}

/** One thing that somebody is about to end, and what ends with it. */
export interface EndOneProps {
  readonly kind: 'sign-in' | 'access' | 'application' | 'key' | 'passkey';
  /** Its name for people. */
  readonly name: string;
  /** Where the form is posted, and its fields. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Where nothing is ended. */
  readonly back: string;
  /** It ends the sign-in of this browser. */
  readonly isHere: boolean;
  /** Browsers that are signed out by it, and applications and devices that lose access by it, by name. */
  readonly browsers: readonly string[];
  readonly applications: readonly string[];
}

/** How much was open until it was ended. */
export interface EverythingEndedProps {
  readonly signIns: number;
  readonly grants: number;
  /** Where to sign in again. */
  readonly again: string;
}

/** A key that lets the person in without a password. */
export interface AccountKey {
  readonly id: string;
  readonly name: string;
  readonly scheme: string;
  /** Absent: it is good everywhere. */
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
  /** `late`: the challenge is no longer good. `last`: the person has no other way in. */
  readonly problem?: 'name' | 'name-taken' | 'failed' | 'late' | 'taken' | 'full' | 'last' | 'gone';
}

export interface AccountPasskey {
  readonly id: string;
  readonly name: string;
  readonly since: number;
  readonly lastUse?: number;
  /** When it was refused since there may be a copy. */
  readonly refused?: number;
  /** The person has signed in with it in this browser. */
  readonly current: boolean;
}

export interface KeyLinkProps {
  /** Good once; anybody who opens it adds a key. */
  readonly link: string;
  /** Where the account is. */
  readonly back: string;
}

/** An application, once, with all that the person has allowed it. */
export interface AccountApplication {
  /** The identifier of its client. */
  readonly id: string;
  readonly name: string;
  readonly items: readonly string[];
  readonly accesses: readonly AccountAccess[];
  /** Browsers and devices that the overview leaves out. */
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
  /** `other`: the person did it, and it is about somebody or something else. */
  readonly kind: KindOfPerson | 'other';
  /** Milliseconds since the epoch; of several, of the last one. */
  readonly at: number;
  /** How many events this entry stands for, if that is more than one. */
  readonly count?: number;
  /** The name of the application that it is about. */
  readonly client?: string;
  /** Somebody else who did it. */
  readonly by?: 'operator' | 'administrator';
  readonly means?: SignInMeans;
  readonly reason?: 'password' | 'passkey' | 'second factor';
  /** A part of the account that was changed; absent: it has no words of its own. */
  readonly part?: AccountPart;
  /** The browser of a sign-in that has not ended. */
  readonly agent?: string;
  readonly address?: string;
}

/** As the event `person.changed` has it in `what`. */
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
  /** Where older ones are; absent: there are none. */
  readonly older?: string;
  /** This page without a place in the log. */
  readonly newest: string;
  readonly back: string;
}
