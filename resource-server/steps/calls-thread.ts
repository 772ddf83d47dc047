import { serveTasks } from '#shared/base/thread.ts';
import { callsIn } from './calls.ts';

/** `callsIn`, for message-reader.ts. The tools arrive as JSON, and the calls are returned as JSON. */
serveTasks({
  callsIn: (content: Buffer, tools: Buffer) =>
    Buffer.from(JSON.stringify(callsIn(content, new Map(JSON.parse(tools.toString()))))),
});
