/** Makes the table of the recipes, with one row, unless it is there. */
export const TABLE = `
CREATE TABLE IF NOT EXISTS chair (id TEXT PRIMARY KEY, "left" INTEGER NOT NULL, token BIGINT NOT NULL DEFAULT 0);
INSERT INTO chair (id, "left") VALUES ('chair', 10) ON CONFLICT DO NOTHING`;
