import Libsql from 'libsql';
import { DataSource } from 'typeorm';
import { Chair } from './chair.js';

/** A connection to the database of that file, which it makes with one row: `chair`, of which `left` are left. */
export async function openSource(database: string, left: number): Promise<DataSource> {
  const source = new DataSource({
    type: 'better-sqlite3',
    driver: Libsql, // has the same interface, and its package contains the binary
    database,
    entities: [Chair],
    enableWAL: true,
  });
  await source.initialize();
  const tables = await source.query<[]>(`SELECT 1 FROM sqlite_master WHERE name = 'chair'`);
  if (tables.length > 0) return source;
  await source.synchronize();
  await source.manager.insert(Chair, { id: 'chair', left });
  return source;
}
