import type { LogFields } from '#shared/base/log-fields.ts';
import type { Check } from '#shared/explain/checks.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { labelOf } from '#shared/refusals/table.ts';
import { contentOf, type MessageParts, partsOf } from './http1-message.ts';

/** A recorded message: the words of its first line, its fields and its content. */
export interface RecordedMessage extends MessageParts {
  readonly words: readonly string[];
  /** Returns the values of all lines of a field; `name` in lower case. */
  lines(name: string): readonly string[];
}

/** A request of the client and its answer. */
export interface Recorded {
  readonly asked: RecordedMessage;
  readonly answer: RecordedMessage;
  /** The log line of the request at the server. Undefined: the line is not available. */
  readonly noted: LogFields | undefined;
  /** The URL of the space. */
  readonly url: string;
}

/** Returns the checks of a request with their results, in order. Undefined: nothing was checked. */
export type Checks = (recorded: Recorded) => readonly Check[] | undefined;

/** Reads the octets of a message (RFC 9112 section 2.1). */
export function readRecorded(octets: Buffer): RecordedMessage {
  const parts = partsOf(octets);
  return {
    ...parts,
    content: contentOf(parts),
    words: parts.first.split(' '),
    lines: (name) =>
      parts.fields.flatMap(([of, value]) => (of.toLowerCase() === name ? value : [])),
  };
}

/** Fields that carry credentials. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'x-api-key'];

export const hasCredentials = ({ lines }: RecordedMessage): boolean =>
  CREDENTIALS.some((name) => lines(name).length > 0);

/** True if the server asked the client for the next message of the scheme, which is no refusal. */
export const isContinued = (noted: LogFields | undefined): boolean =>
  noted?.refusal !== undefined && labelOf(noted.refusal) === 'continued';

/** True if a server has accepted the request: the answer is a success or a redirect. */
export const isTaken = ({ words }: RecordedMessage): boolean => Number(words[1]) < 400;

/** The text of an error of OAuth or of a problem document (RFC 6749 section 5.2, RFC 9457 section 3.1.4). */
export function toldIn(content: Buffer): string | undefined {
  const { error, error_description: text, detail } = membersOf(content);
  const told = [error, text].flatMap((part) => textIn(part) ?? []).join(': ');
  return told || textIn(detail);
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The members of a JSON object. Empty for other content. */
export function membersOf(content: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
