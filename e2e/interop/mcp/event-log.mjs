// The events of one session of an MCP server, for clients that resume a stream: an EventStore of SDK version 1.
export class EventLog {
  #events = [];

  /** An event id needs no secret: before a stream is resumed, the session and its owner are checked. */
  storeEvent(stream, message) {
    const id = `${this.#events.length}`;
    this.#events.push({ id, stream, message });
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id) {
    return Promise.resolve(this.#events.find((event) => event.id === id)?.stream);
  }

  async replayEventsAfter(id, { send }) {
    const at = this.#events.findIndex((event) => event.id === id);
    const stream = this.#events[at]?.stream;
    const later = this.#events.slice(at + 1).filter((event) => event.stream === stream);
    for (const event of later) await send(event.id, event.message);
    return stream;
  }
}
