import cluster from 'node:cluster';

/**
 * As shared/start has read it; empty as good as absent. No setting that could be handed in: which worker it is a
 * process knows from its birth, as its pid, and bounds of whole modules follow from it.
 */
const { COUNTERSIGN_WORKERS: told = '', COUNTERSIGN_WORKER: number } = process.env;

/** Whether shared/start runs this process, and has not been told yet whether there are to be several. */
export const UNTOLD = cluster.isWorker && told === '';

/** How many processes run this server. What holds for one account or address holds for all of them together. */
export const WORKERS = cluster.isWorker && told !== '' ? Number(told) : 1;

/** Which of them this is, from 1. */
export const WORKER = WORKERS === 1 ? 1 : Number(number);

/** What one of the workers may have of what all together may have so much of; one at least. */
export const portion = (all: number) => Math.max(1, Math.floor(all / WORKERS));
