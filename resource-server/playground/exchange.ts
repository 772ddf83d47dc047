import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { PlannedRequest, ReadAnswer } from './http1-message.ts';

/** A note on a field or a parameter, and the section that defines it. */
export interface Note {
  readonly text: string;
  readonly section: string;
}

/** The means of a client while it performs an exchange. */
export interface Performing {
  /** Sends one request and resolves to its answer; `title` says what the client does. */
  send(title: string, request: PlannedRequest): Promise<ReadAnswer>;
  /** Adds to the last leg what the client finds out by the answer. */
  remark(text: string): unknown;
  /** The path of the space. */
  readonly target: string;
  /** One of the mistakes of the exchange. */
  readonly mistake: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** The requests of a client at one place. Its texts are about protocols, and in English. */
export interface Exchange {
  /** A path segment of its page and of its space. */
  readonly name: string;
  readonly title: string;
  /** Two sentences: its use and its limit. */
  readonly about: string;
  /** Where it is specified, and what in `docs/` is about it. */
  readonly standard: string;
  readonly document: string;
  /** Members of its space beside the usual ones. */
  readonly space: { readonly schemes: readonly string[] } & Readonly<Record<string, unknown>>;
  /** The same by a program of the visitor's own, in a shell; `url` is that of the space. */
  readonly command?: (url: string) => string;
  /** Mistakes that the client can make, by name, in words. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** Notes on the parameters of challenges, credentials and Authentication-Info, by name. */
  readonly parameters: Readonly<Record<string, Note>>;
  /** Returns in clear what the value of a parameter encodes. Undefined: it is what it says. */
  readonly decoded?: (name: string, value: string) => string | undefined;
  perform(performing: Performing): Promise<void>;
}
