import { type Connection, type Model, Schema } from 'mongoose';

export interface MongooseChair {
  _id: string;
  left: number;
  token: bigint;
}

const schema = new Schema<MongooseChair>({
  _id: { type: String, required: true },
  left: { type: Number, required: true },
  token: { type: BigInt, default: 0n },
});

export const chairsOf = (connection: Connection): Model<MongooseChair> =>
  connection.model<MongooseChair>('chair', schema, 'chair');
