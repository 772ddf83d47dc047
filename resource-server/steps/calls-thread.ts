import { serveTasks } from '#shared/base/thread.ts';
import { callsIn } from './calls.ts';

/** `callsIn`, for message-reader.ts: the tools come and the calls go as JSON. */
serveTasks({
  callsIn: (content: Buffer, tools: Buffer) =>
    Buffer.from(JSON.stringify(callsIn(content, new Map(JSON.parse(tools.toString()))))),
});
