import type { ToolScopes } from '#shared/auth/judge/tool-scopes.ts';
import { Threads } from '#shared/base/threads.ts';
import { HttpError } from '#shared/http/answer.ts';
import { createAtMost } from '../exchange/at-most.ts';
import { type Calls, callsIn } from './calls.ts';

/** Octets of the longest message that is read in the event loop, where reading takes some milliseconds. */
export const READ_AT_ONCE = 64 * 1024;
/** The most long messages that are read or wait: of one holder in all workers, and of all holders in this one. */
const MOST_EACH = 8;
const MOST = 64;

/** Reads the messages of holders (space/account.ts). */
export interface MessageReader {
  /** The number of running threads. */
  readonly threads: number;
  /** Rejects with `HttpError` 503 if too many long messages wait. */
  read(holder: string, content: Buffer, tools: ToolScopes): Promise<Calls>;
}

const tooMany = () =>
  new HttpError(503, 'Too many long messages are read at the moment. Try again.', {
    'Retry-After': '1',
  });

/** Reads long messages in a thread: one at a time, with holders in rotation. */
export function createMessageReader(): MessageReader {
  const entry = 'resource-server/steps/calls-thread';
  const line = new Threads({ entry, title: 'message', threads: 1, most: MOST, tooMany });
  const each = createAtMost('messages', MOST_EACH);

  async function inThread(holder: string, content: Buffer, tools: ToolScopes): Promise<Calls> {
    const turn = { groups: [holder] };
    const named = Buffer.from(JSON.stringify([...tools]));
    return JSON.parse(String(await line.run(turn, 'callsIn', content, named)));
  }

  return {
    get threads() {
      return line.running.length;
    },
    read: async (holder, content, tools) =>
      content.length <= READ_AT_ONCE
        ? callsIn(content, tools)
        : each(holder, () => inThread(holder, content, tools)),
  };
}
