import { Failure } from '../arguments/command.ts';

/** Characters of the longest line, and of the longest data of an event. */
const LONGEST = 16_384;

/** An event of a stream of the type text/event-stream. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Yields the events of a stream as they come (HTML standard, section 9.2.6). Throws `Failure` if one is too long. */
export async function* eventsIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, void> {
  let [event, data] = ['', ''];
  for await (const line of linesIn(chunks)) {
    if (line === '') {
      if (data !== '') yield { event: event || 'message', data: data.slice(0, -1) };
      [event, data] = ['', ''];
      continue;
    }
    // A comment has no name.
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'event') event = value;
    if (name === 'data') data = bounded(`${data}${value}\n`);
  }
}

/** Yields the lines of a text in UTF-8, which end in CR, LF or CRLF. The last one counts only with its end. */
async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let begun = '';
  let afterReturn = false;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    const fresh = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    afterReturn = text.endsWith('\r');
    const [rest = '', ...others] = fresh.split(/\r\n|\r|\n/);
    begun = bounded(begun + rest);
    for (const next of others) {
      yield begun;
      begun = bounded(next);
    }
  }
}

function bounded(text: string): string {
  if (text.length <= LONGEST) return text;
  throw new Failure(`the push service sent an event of more than ${LONGEST} characters`);
}
