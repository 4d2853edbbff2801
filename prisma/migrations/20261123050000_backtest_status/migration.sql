CREATE TYPE "backtest_status" AS ENUM ('waiting', 'running', 'done', 'failed', 'cancelled');
