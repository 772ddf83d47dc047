import { serveTasks } from '#shared/base/thread.ts';
import { blindEvaluate, evaluate } from './voprf.ts';

/** The functions of voprf.ts, for voprf-threads.ts. */
serveTasks({ blindEvaluate, evaluate });
