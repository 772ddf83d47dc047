import { afterAll } from '@jest/globals';
import { openVoprfThreads } from './voprf-threads.ts';

/** One thread for the whole suite, since starting a thread takes longer than most tests. */
export const voprf = openVoprfThreads({ threads: 1 });

afterAll(() => voprf[Symbol.asyncDispose]());
