/** Suites that start servers as processes, or programs that nobody here wrote. */
import { isBench, isCore, project } from './projects.ts';

export default project('real', (suite) => !isCore(suite) && !isBench(suite));
