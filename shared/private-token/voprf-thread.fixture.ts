import { afterAll } from '@jest/globals';
import { openVoprfThreads } from './voprf-threads.ts';

/** One thread for all that a suite opens: to start it takes longer than most tests. */
export const voprf = openVoprfThreads({ threads: 1 });

afterAll(() => voprf[Symbol.asyncDispose]());
