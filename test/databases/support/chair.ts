import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity()
export class Chair {
  @PrimaryColumn('text')
  id!: string;

  @Column('integer')
  left!: number;

  @Column('bigint', { default: 0 })
  token!: string;
}
