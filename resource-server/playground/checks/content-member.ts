import { isObject } from '#shared/jose/compact-jws.ts';
import type { RecordedMessage } from '../recorded.ts';

/** Returns a member of the JSON of an answer that is text. Undefined: it has none. */
export function memberOf({ content }: RecordedMessage, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(content.toString());
    const member = isObject(value) ? value[name] : undefined;
    return typeof member === 'string' ? member : undefined;
  } catch {
    return undefined;
  }
}
