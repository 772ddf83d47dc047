/** A client of MCP that shows each request and each event as it comes (Streamable HTTP, revision 2025-11-25). */

interface Message {
  readonly method?: string;
  readonly params?: { readonly data?: string };
  readonly result?: { readonly content?: readonly [{ readonly text: string }] };
}

export interface Event {
  readonly id: string;
  /** The text of a notification or a tool. */
  readonly text: string;
}

type Fields = Readonly<Record<string, string>>;

const ACCEPT = 'application/json, text/event-stream';
const REVISION = '2025-11-25';

/** A session at an MCP server, or a client before its session. */
export class RawClient {
  readonly #url: string;
  readonly #fields: Fields;
  #id = 0;

  /** `fields` are sent with every request. */
  constructor(url: string, token: string, fields: Fields = {}) {
    this.#url = url;
    this.#fields = { Authorization: `Bearer ${token}`, ...fields };
  }

  send(method: string, { fields = {}, body, signal }: Sent = {}): Promise<Response> {
    return fetch(this.#url, {
      method,
      headers: {
        Accept: ACCEPT,
        'Mcp-Protocol-Version': REVISION,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...this.#fields,
        ...fields,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  request(method: string, params: object, sent: Omit<Sent, 'body'> = {}): Promise<Response> {
    this.#id += 1;
    return this.send('POST', { ...sent, body: { jsonrpc: '2.0', id: this.#id, method, params } });
  }

  /** Asks for a session. */
  initialize(fields: Fields = {}): Promise<Response> {
    const clientInfo = { name: 'raw', version: '1.0.0' };
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo };
    return this.request('initialize', params, { fields });
  }

  /** Begins a session; returns the field with its id. */
  async begin(): Promise<Fields> {
    const response = await this.initialize();
    const id = response.headers.get('mcp-session-id');
    await response.text();
    if (id === null) throw new Error(`no session: ${response.status}`);
    return { 'Mcp-Session-Id': id };
  }

  call(name: string, tool: object, sent?: Omit<Sent, 'body'>): Promise<Response> {
    return this.request('tools/call', { name, arguments: tool }, sent);
  }
}

interface Sent {
  readonly fields?: Fields;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** The events of an event-stream answer, as they come (HTML standard, section 9.2.6). */
export async function* eventsOf({ body }: Response): AsyncGenerator<Event, void, void> {
  let begun = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = `${begun}${piece}`.split('\n\n');
    begun = events.pop() ?? '';
    for (const lines of events) {
      const data = /^data: (.+)$/m.exec(lines)?.[1];
      if (data === undefined) continue;
      const { params, result } = JSON.parse(data) as Message;
      yield {
        id: /^id: (.*)$/m.exec(lines)?.[1] ?? '',
        text: params?.data ?? result?.content?.[0].text ?? '',
      };
    }
  }
}

/** Returns the texts of all remaining events. */
export async function textsOf(events: AsyncIterable<Event>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const { text } of events) texts.push(text);
  return texts;
}
