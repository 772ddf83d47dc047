import { hash } from 'node:crypto';
import { type AuthRequest, ORIGIN, type Scheme } from '#shared/auth/scheme.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { credentialsOf, type Recorded, type RecordedMessage } from '../recorded.ts';

/** Remembers what one exchange has used. */
export function replayMemory(): Pick<Replay, 'unique'> {
  const used = new Set<string>();
  return {
    async unique(namespace, key) {
      const before = used.size;
      return used.add(`${namespace} ${key}`).size > before;
    },
  };
}

/**
 * Returns why a scheme refuses a request, after it has judged the requests before, whose credentials it remembers.
 * Undefined: it does not refuse.
 */
export async function refusalBy(scheme: Scheme, recorded: Recorded): Promise<Refusal | undefined> {
  const { asked, earlier } = recorded;
  const name = scheme.name.toLowerCase();
  if (credentialsOf(asked).scheme !== name) return refuse('other-scheme');
  let refusal: Refusal | undefined;
  for (const message of [...earlier.map((leg) => leg.asked), asked]) {
    const credentials = credentialsOf(message);
    if (credentials.scheme !== name) continue;
    const verdict = await scheme.authenticate(credentials, requestOf(message, recorded));
    refusal = 'refusal' in verdict ? verdict : undefined;
  }
  return refusal;
}

/** A recorded request as a scheme reads it. Clear text does not leave this process, so it is confidential. */
function requestOf({ words, lines, content }: RecordedMessage, { url }: Recorded): AuthRequest {
  const [method = '', target = ''] = words;
  return {
    at: ORIGIN,
    method,
    target,
    origin: new URL(url).origin,
    field: (name) => lines(name.toLowerCase())[0],
    lines,
    cookies: [],
    peer: { address: '127.0.0.1', connection: {}, http2: false, trusted: false },
    confidential: true,
    content: { digest: (name) => Promise.resolve(hash(name, content, 'buffer')) },
  };
}
