import type { KeyObject } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { ClientOfCommands } from '#shared/config/client-of-commands.ts';
import type { Notes } from '#shared/explain/note.ts';
import type { KeyBinding } from '#shared/jose/access-token-claims.ts';
import type { Person } from './browser.ts';
import type { Checks } from './recorded.ts';
import type { Party, PlannedRequest, ReadAnswer } from './http1-message.ts';

/** An access token that the playground issues. */
export interface Issued {
  readonly audience: string;
  readonly scope: string;
  /** It is for the playground's person, by a grant that ends with it; default: for a client in its own name. */
  readonly person?: true;
  /** The key that it is bound to. */
  readonly cnf?: KeyBinding;
  /** Seconds since it was issued. */
  readonly age?: number;
}

export type Issue = (issued: Issued) => Promise<string>;

/** A private key of RSA, and its id (RFC 7486 section 9.4). */
export interface HobaKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** The keys of the playground's clients, and others, which are registered nowhere. */
export interface ClientKeys {
  hoba(): Promise<HobaKey>;
  unknownHoba(): Promise<HobaKey>;
  /** The key of Concealed. */
  ed25519(): KeyObject;
  unknownEd25519(): KeyObject;
  /** The key of vapid. */
  p256(): KeyObject;
  unknownP256(): KeyObject;
}

/** The means of a client while it performs an exchange. */
export interface Performing {
  /** Sends one request and resolves to its answer; `title` says what the client does. */
  send(title: string, request: PlannedRequest): Promise<ReadAnswer>;
  /** Sends one request that no page shows. */
  visit(request: PlannedRequest): Promise<ReadAnswer>;
  /** Asks a proxy for a tunnel, and sends another request through it, if it opens. */
  tunnel(
    title: string,
    connect: PlannedRequest,
    through: { readonly title: string; readonly request: PlannedRequest },
  ): Promise<void>;
  /** Adds to the last leg what the client finds out by the answer. `see`: the URL of a page about it. */
  remark(text: string, see?: string): unknown;
  /** Says why the client itself refuses the last answer: then that is what came of the leg. */
  refuse(why: string): void;
  /** The path of the space, and its URL. */
  readonly target: string;
  readonly url: string;
  /** One of the mistakes of the exchange. */
  readonly mistake: string | undefined;
  /** The messages go over HTTP/2. */
  readonly http2: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly issue: Issue;
  readonly keys: ClientKeys;
  /** The key of the playground's application. */
  readonly apiKey: string;
  /** The authorization server of the pair, the key of the playground's client there, and the person who signs in. */
  readonly issuer: string;
  readonly clientKey: KeyObject;
  readonly person: Person;
  /** The redirect URI of that client (RFC 6749 section 3.1.2). */
  readonly redirectUri: string;
}

/** The means of a command beside the space of the playground. */
export interface OfCommands extends Pick<Performing, 'apiKey' | 'issuer'> {
  /** The URL of documents that are opened by a token. Undefined: none are configured. */
  readonly documents: string | undefined;
  readonly client: ClientOfCommands;
}

/** The requests of a client at one place. Its texts are about protocols, and in English. */
export interface Exchange {
  /** A path segment of its page and of its space. */
  readonly name: string;
  readonly title: string;
  /** The abbreviation in the title, written out. */
  readonly longName?: string;
  /** Two sentences: its use and its limit. */
  readonly about: string;
  /** Where it is specified, and what in `docs/` is about it. */
  readonly standard: string;
  readonly document: string;
  /** The scheme is for TLS alone. Such an exchange takes place over HTTP/1.1 or HTTP/2. */
  readonly overTls?: true;
  /** It asks the authorization server of the pair, whose tokens its space takes. */
  readonly ofPair?: true;
  /** Nobody but the playground may ask its space. */
  readonly inside?: true;
  /** Its space has the playground's application behind it. */
  readonly ofApplication?: true;
  /** The part of the server in the exchange. Absent: a server. */
  readonly serverIs?: 'pushService';
  /** Members of its space beside the usual ones. */
  readonly space: { readonly schemes: readonly string[] } & Readonly<Record<string, unknown>>;
  /** The same by a program of the visitor's own, in a shell; `url` is that of the space. Undefined: there is none here. */
  readonly command?: (url: string, own: OfCommands) => string | undefined;
  /** Mistakes that the client can make, by name, in words. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** Notes on the parameters of challenges, credentials and Authentication-Info, by name. */
  readonly parameters?: Notes;
  /** Notes on the members of forms and of JSON, by name. */
  readonly contents?: Notes;
  /** Returns in clear what the value of a parameter or field encodes. Undefined: it is what it says. */
  readonly decoded?: (name: string, value: string) => string | undefined;
  /** Tells what the server of the space, or another one, has checked of a request. Absent: there is no list. */
  readonly checks?: Checks;
  readonly checksBy?: Readonly<Partial<Record<Party, Checks>>>;
  perform(performing: Performing): Promise<void>;
}
