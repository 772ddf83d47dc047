import type { Subscription } from './push-crowd.ts';

export interface Message {
  /** The path of the message. */
  readonly path: string;
  readonly body: string;
}

/** Called once for each message. */
export type Arrived = (push: Subscription['push'], message: Message) => void;

/** Returns a function that reads an event stream piece by piece, and reports each message. */
export function eventReader(push: string, arrived: Arrived): (piece: string) => void {
  let text = '';
  return (piece) => {
    const events = (text + piece).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^event: message\ndata: (.*)$/.exec(event)?.[1];
      if (data === undefined) continue; // a comment
      const { url, body } = JSON.parse(data) as Readonly<Record<'url' | 'body', string>>;
      const { pathname: path } = new URL(url);
      arrived(push, { path, body: Buffer.from(body, 'base64url').toString() });
    }
  };
}
