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
  /**
   * Issues the token for the playground's person, by a grant that ends with the token. Default: for a client in its own
   * name.
   */
  readonly person?: true;
  /** The key to which the token is bound. */
  readonly cnf?: KeyBinding;
  /** Seconds since the token was issued. */
  readonly age?: number;
}

export type Issue = (issued: Issued) => Promise<string>;

/** An RSA private key, and its id (RFC 7486 section 9.4). */
export interface HobaKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** The keys of the playground's clients, and further keys that are registered nowhere. */
export interface ClientKeys {
  hoba(): Promise<HobaKey>;
  unknownHoba(): Promise<HobaKey>;
  /** The key for Concealed. */
  ed25519(): KeyObject;
  unknownEd25519(): KeyObject;
  /** The key for vapid. */
  p256(): KeyObject;
  unknownP256(): KeyObject;
}

/** The means of a client that performs an exchange. */
export interface Performing {
  /** Sends a request and resolves to its answer. `title`: what the client does. */
  send(title: string, request: PlannedRequest): Promise<ReadAnswer>;
  /** Sends a request that no page shows. */
  visit(request: PlannedRequest): Promise<ReadAnswer>;
  /** Asks a proxy for a tunnel and, if it opens, sends another request through it. */
  tunnel(
    title: string,
    connect: PlannedRequest,
    through: { readonly title: string; readonly request: PlannedRequest },
  ): Promise<void>;
  /** Adds the client's conclusion to the last leg. `see`: the URL of a page about it. */
  remark(text: string, see?: string): unknown;
  /** Records why the client itself refuses the last answer, as the outcome of the leg. */
  refuse(why: string): void;
  /** The path and the URL of the space. */
  readonly target: string;
  readonly url: string;
  /** The name of one of the exchange's mistakes. */
  readonly mistake: string | undefined;
  /** Whether the messages use HTTP/2. */
  readonly http2: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly issue: Issue;
  readonly keys: ClientKeys;
  /** The API key of the playground's application. */
  readonly apiKey: string;
  /** The issuer of the playground's authorization server, the key of its client there, and the person who signs in. */
  readonly issuer: string;
  readonly clientKey: KeyObject;
  readonly person: Person;
  /** The redirect URI of the client (RFC 6749 section 3.1.2). */
  readonly redirectUri: string;
}

/** The values that shell commands need, beside the URL of the space. */
export interface OfCommands extends Pick<Performing, 'apiKey' | 'issuer'> {
  /** The URL of documents that a token opens. Undefined: none are configured. */
  readonly documents: string | undefined;
  readonly client: ClientOfCommands;
}

/** An exchange: the requests of a client at one space. Its texts are about protocols, and in English. */
export interface Exchange {
  /** The path segment of the exchange's page and of its space. */
  readonly name: string;
  readonly title: string;
  /** The abbreviation in the title, written out. */
  readonly longName?: string;
  /** Two sentences about the exchange: its use and its limit. */
  readonly about: string;
  /** The standard that specifies the exchange, and the page in `docs/` about it. */
  readonly standard: string;
  readonly document: string;
  /** Whether the scheme requires TLS. Such an exchange uses HTTP/1.1 or HTTP/2. */
  readonly overTls?: true;
  /** Whether the exchange uses the playground's authorization server, whose tokens its space accepts. */
  readonly ofPair?: true;
  /** Whether only the playground itself reaches the space. */
  readonly inside?: true;
  /** Whether the space has the playground's application behind it. */
  readonly ofApplication?: true;
  /** The role of the server in the exchange. Absent: a server. */
  readonly serverIs?: 'pushService';
  /** Members of the space's configuration beside the usual ones. */
  readonly space: { readonly schemes: readonly string[] } & Readonly<Record<string, unknown>>;
  /**
   * Returns a shell command with which visitors can repeat the exchange themselves; `url` is the space's. Undefined:
   * there is no such command.
   */
  readonly command?: (url: string, own: OfCommands) => string | undefined;
  /** The mistakes that the client can make, by name, with descriptions. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** Notes on the parameters of challenges, credentials and Authentication-Info, by name. */
  readonly parameters?: Notes;
  /** Notes on the members of forms and of JSON, by name. */
  readonly contents?: Notes;
  /** Decodes the value of a parameter or field for people. Undefined: the value needs no decoding. */
  readonly decoded?: (name: string, value: string) => string | undefined;
  /**
   * Returns the checks of a request by the server of the space, or by another server. Absent: there is no list of
   * checks.
   */
  readonly checks?: Checks;
  readonly checksBy?: Readonly<Partial<Record<Party, Checks>>>;
  perform(performing: Performing): Promise<void>;
}
