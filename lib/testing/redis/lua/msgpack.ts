import { lua, type LuaState, textAt } from './fengari.js';
import type { Library } from './library.js';

/** The library `cmsgpack`: one value at a time. A table is packed as an array if its keys are 1 to its length. */
export const msgpackLibrary: Library = {
  pack(state) {
    const bytes: number[] = [];
    packAt(state, bytes);
    lua.lua_pushstring(state, Uint8Array.from(bytes));
    return 1;
  },
  unpack(state) {
    new Unpacking(state, Buffer.from(textAt(state, 1), 'latin1')).push();
    return 1;
  },
};

/** Packs the value at the top of the stack. */
function packAt(state: LuaState, out: number[]): void {
  switch (lua.lua_type(state, -1)) {
    case lua.LUA_TSTRING:
      packText(Buffer.from(textAt(state, -1), 'latin1'), out);
      break;
    case lua.LUA_TNUMBER:
      packNumber(lua.lua_tonumber(state, -1), out);
      break;
    case lua.LUA_TBOOLEAN:
      out.push(lua.lua_toboolean(state, -1) ? 0xc3 : 0xc2);
      break;
    case lua.LUA_TTABLE:
      packTable(state, out);
      break;
    default:
      out.push(0xc0);
  }
}

function packText(text: Buffer, out: number[]): void {
  const { length } = text;
  if (length < 32) out.push(0xa0 | length);
  else if (length <= 0xff) out.push(0xd9, length);
  else if (length <= 0xffff) out.push(0xda, ...bytesOf(2, (it) => it.writeUInt16BE(length)));
  else out.push(0xdb, ...bytesOf(4, (it) => it.writeUInt32BE(length)));
  for (const byte of text) out.push(byte);
}

function packNumber(value: number, out: number[]): void {
  if (!Number.isInteger(value)) {
    if (Math.fround(value) === value) out.push(0xca, ...bytesOf(4, (it) => it.writeFloatBE(value)));
    else out.push(0xcb, ...bytesOf(8, (it) => it.writeDoubleBE(value)));
  } else if (value >= 0) {
    if (value <= 127) out.push(value);
    else if (value <= 0xff) out.push(0xcc, value);
    else if (value <= 0xffff) out.push(0xcd, ...bytesOf(2, (it) => it.writeUInt16BE(value)));
    else if (value <= 0xffffffff) out.push(0xce, ...bytesOf(4, (it) => it.writeUInt32BE(value)));
    else out.push(0xcf, ...bytesOf(8, (it) => it.writeBigUInt64BE(BigInt(value))));
  } else if (value >= -32) out.push(256 + value);
  else if (value >= -128) out.push(0xd0, 256 + value);
  else if (value >= -32768) out.push(0xd1, ...bytesOf(2, (it) => it.writeInt16BE(value)));
  else if (value >= -(2 ** 31)) out.push(0xd2, ...bytesOf(4, (it) => it.writeInt32BE(value)));
  else out.push(0xd3, ...bytesOf(8, (it) => it.writeBigInt64BE(BigInt(value))));
}

function packTable(state: LuaState, out: number[]): void {
  let size = 0;
  let isArray = true;
  lua.lua_pushnil(state);
  while (lua.lua_next(state, -2) !== 0) {
    size += 1;
    const key = lua.lua_type(state, -2) === lua.LUA_TNUMBER ? lua.lua_tonumber(state, -2) : 0;
    if (!(Number.isInteger(key) && key > 0)) isArray = false;
    lua.lua_pop(state, 1);
  }
  const length = lua.lua_rawlen(state, -1);
  if (isArray && length === size) {
    packSize(size, 0x90, 0xdc, out);
    for (let i = 1; i <= size; i++) {
      lua.lua_rawgeti(state, -1, i);
      packAt(state, out);
      lua.lua_pop(state, 1);
    }
    return;
  }
  packSize(size, 0x80, 0xde, out);
  lua.lua_pushnil(state);
  while (lua.lua_next(state, -2) !== 0) {
    lua.lua_pushvalue(state, -2);
    packAt(state, out);
    lua.lua_pop(state, 1);
    packAt(state, out);
    lua.lua_pop(state, 1);
  }
}

function packSize(size: number, few: number, many: number, out: number[]): void {
  if (size <= 15) out.push(few | size);
  else if (size <= 0xffff) out.push(many, ...bytesOf(2, (it) => it.writeUInt16BE(size)));
  else out.push(many + 1, ...bytesOf(4, (it) => it.writeUInt32BE(size)));
}

function bytesOf(size: number, write: (buffer: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(size);
  write(buffer);
  return buffer;
}

/** Puts packed values on the stack. */
class Unpacking {
  #at = 0;

  constructor(
    private readonly state: LuaState,
    private readonly data: Buffer,
  ) {}

  push(): void {
    const { state } = this;
    const kind = this.#number(1, (at) => this.data.readUInt8(at));
    if (kind <= 0x7f) lua.lua_pushnumber(state, kind);
    else if (kind >= 0xe0) lua.lua_pushnumber(state, kind - 256);
    else if (kind <= 0x8f) this.#map(kind & 15);
    else if (kind <= 0x9f) this.#array(kind & 15);
    else if (kind <= 0xbf) this.#text(kind & 31);
    else this.#long(kind);
  }

  #long(kind: number): void {
    const { state, data } = this;
    const unsigned = (size: number) => this.#number(size, (at) => data.readUIntBE(at, size));
    const number = (value: number) => lua.lua_pushnumber(state, value);
    if (kind === 0xc0) lua.lua_pushnil(state);
    else if (kind <= 0xc3) lua.lua_pushboolean(state, kind === 0xc3);
    else if (kind === 0xca) number(this.#number(4, (at) => data.readFloatBE(at)));
    else if (kind === 0xcb) number(this.#number(8, (at) => data.readDoubleBE(at)));
    else if (kind <= 0xce) number(unsigned(2 ** (kind - 0xcc)));
    else if (kind === 0xcf) number(this.#number(8, (at) => Number(data.readBigUInt64BE(at))));
    else if (kind === 0xd3) number(this.#number(8, (at) => Number(data.readBigInt64BE(at))));
    else if (kind <= 0xd2) {
      const size = 2 ** (kind - 0xd0);
      number(this.#number(size, (at) => data.readIntBE(at, size)));
    } else if (kind >= 0xd9 && kind <= 0xdb) this.#text(unsigned(2 ** (kind - 0xd9)));
    else if (kind <= 0xdd) this.#array(unsigned(2 ** (kind - 0xdb)));
    else this.#map(unsigned(2 ** (kind - 0xdd)));
  }

  #number(size: number, read: (at: number) => number): number {
    const value = read(this.#at);
    this.#at += size;
    return value;
  }

  #text(length: number): void {
    lua.lua_pushstring(
      this.state,
      Uint8Array.from(this.data.subarray(this.#at, this.#at + length)),
    );
    this.#at += length;
  }

  #array(length: number): void {
    lua.lua_createtable(this.state, length, 0);
    for (let i = 1; i <= length; i++) {
      this.push();
      lua.lua_rawseti(this.state, -2, i);
    }
  }

  #map(size: number): void {
    lua.lua_createtable(this.state, 0, size);
    for (let i = 0; i < size; i++) {
      this.push();
      this.push();
      lua.lua_rawset(this.state, -3);
    }
  }
}
