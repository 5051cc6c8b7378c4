import { countDownLatchSuite } from './count-down-latch.suite.js';

countDownLatchSuite('standalone');
