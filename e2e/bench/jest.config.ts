/** `npm run test:bench`: whether the benchmarks measure what they say. */
import { isBench, project } from '../setup/projects.ts';

export default project('bench', isBench);
