import type { Message, Reply, Send } from '#shared/client/send.ts';

type Scripted = Partial<Omit<Reply, 'body'>> & { readonly body?: object | string };

/** Answers from a table by `METHOD URL`, one after the other, and keeps what was sent. */
export function scripted(table: Readonly<Record<string, Scripted | readonly Scripted[]>>) {
  const sent: Message[] = [];
  const send: Send = async (message) => {
    const key = `${message.method} ${message.url}`;
    const replies = [table[key] ?? []].flat();
    const earlier = sent.filter(({ method, url }) => `${method} ${url}` === key).length;
    sent.push(message);
    const reply = replies[Math.min(earlier, replies.length - 1)];
    if (reply === undefined) throw new Error(`nobody expects ${key}`);
    const { status = 200, body = '' } = reply;
    const [text, type] =
      typeof body === 'string' ? [body, 'text/plain'] : [JSON.stringify(body), 'application/json'];
    return { status, fields: { 'content-type': type, ...reply.fields }, body: Buffer.from(text) };
  };
  return { send, sent };
}

/** The form that was sent. */
export const formOf = (message: Message | undefined) =>
  Object.fromEntries(new URLSearchParams(String(message?.body)));
