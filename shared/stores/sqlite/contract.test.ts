import { storesContract } from '../contract/index.ts';
import { sqliteUnderTest } from './under-test.ts';

storesContract('sqlite', sqliteUnderTest);
