import { serveTasks } from '#shared/base/thread.ts';
import { blindEvaluate, evaluate } from './voprf.ts';

/** Serves the functions of voprf.ts to voprf-threads.ts. */
serveTasks({ blindEvaluate, evaluate });
