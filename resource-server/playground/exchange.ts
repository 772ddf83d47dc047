import type { PlannedRequest, ReadAnswer } from './http1-message.ts';

/** Sends one request of an exchange and returns its answer; `title` says what the client does. */
export type SendLeg = (title: string, request: PlannedRequest) => Promise<ReadAnswer>;

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
  readonly space: { readonly schemes: readonly string[] } & object;
  /** The same by a program of the visitor's own, in a shell; `url` is that of the space. */
  readonly command?: (url: string) => string;
  /** Mistakes that the client can make, by name, in words. */
  readonly mistakes: Readonly<Record<string, string>>;
  /** Performs it at the path of the space. `mistake`: one of `mistakes`. */
  perform(send: SendLeg, target: string, mistake: string | undefined): Promise<void>;
}
